/* The transport that ships: base/http_client.h, that is libcurl. */
#ifndef KUBE_TRANSPORT_CURL_H
#define KUBE_TRANSPORT_CURL_H

#include "kube/client.h"

extern const struct kube_transport_ops kube_transport_curl;

/* The transport is the http_client itself; destroy frees it. */
void *kube_transport_curl_create(struct loop *loop, const struct kube_config *config);

#endif
