/*
 * Field tables of Kubernetes' protobuf messages, one per message. Internal to proto*.c. A table
 * ends with P_END; a field that it lacks is skipped when it comes.
 */
#ifndef API_PROTO_TABLE_H
#define API_PROTO_TABLE_H

enum proto_type {
	P_STRING = 1,
	P_BYTES, /* base64 in JSON */
	P_BOOL,
	P_INT,           /* of 32 or 64 bits, signed */
	P_STRINGS,       /* a message that holds a list of strings: an array in JSON */
	P_TIME,          /* seconds and nanoseconds: RFC 3339 in JSON */
	P_MICRO_TIME,    /* the same, with six decimals */
	P_QUANTITY,      /* a message that holds a string: that string */
	P_INT_OR_STRING, /* a message with either: that one */
	P_MESSAGE,
	P_TYPE = 0xff,
	/* A zero value is a value: without this it stands for an absent field. */
	P_KEEP = 1 << 8,
	P_LIST = 1 << 9,
	P_MAP = 1 << 10,    /* of strings to the type */
	P_INLINE = 1 << 11, /* the message's fields lie in the object around it */
};

struct proto_field {
	unsigned number;
	const char *name; /* in JSON */
	unsigned type;    /* enum proto_type and flags */
	const struct proto_field *message;
};

#define P_END                                                                                      \
	{                                                                                          \
		0                                                                                  \
	}

extern const struct proto_field proto_delete_options[];
extern const struct proto_field proto_object_meta[];
extern const struct proto_field proto_namespace[];
extern const struct proto_field proto_config_map[];
extern const struct proto_field proto_secret[];
extern const struct proto_field proto_object_reference[];
extern const struct proto_field proto_event[];
extern const struct proto_field proto_condition[];
extern const struct proto_field proto_service[];
extern const struct proto_field proto_local_object_reference[];
extern const struct proto_field proto_object_field_selector[];
extern const struct proto_field proto_resource_field_selector[];
extern const struct proto_field proto_label_selector[];
extern const struct proto_field proto_typed_local_object_reference[];
extern const struct proto_field proto_typed_object_reference[];
extern const struct proto_field proto_volume[];
extern const struct proto_field proto_config_map_key_selector[];
extern const struct proto_field proto_resource_requirements[];
extern const struct proto_field proto_se_linux_options[];
extern const struct proto_field proto_windows_security_context_options[];
extern const struct proto_field proto_seccomp_profile[];
extern const struct proto_field proto_app_armor_profile[];
extern const struct proto_field proto_container[];
extern const struct proto_field proto_ephemeral_container[];
extern const struct proto_field proto_container_status[];
extern const struct proto_field proto_pod[];
extern const struct proto_field proto_binding[];
extern const struct proto_field proto_lease[];
extern const struct proto_field proto_events_event[];
extern const struct proto_field proto_priority_class[];
extern const struct proto_field proto_certificate_signing_request[];

#endif
