#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pki.h"
#include "kube/client.h"

static const char text[] =
	"apiVersion: v1\n"
	"kind: Config\n"
	"current-context: one\n"
	"contexts:\n"
	"- {name: one, context: {cluster: c, user: u, namespace: ml}}\n"
	"- {name: two, context: {cluster: d, user: v}}\n"
	"clusters:\n"
	"- {name: c, cluster: {server: 'https://c:1', "
	"certificate-authority-data: Y2E=}}\n"
	"- {name: d, cluster: {server: 'https://d:2', certificate-authority: ca.pem}}\n"
	"users:\n"
	"- {name: u, user: {token: secret}}\n"
	"- {name: v, user: {client-certificate-data: Y2VydA==, "
	"client-key-data: a2V5}}\n";

static char *write_config(char *dir, const char *content)
{
	char *path = xasprintf("%s/config", mkdtemp(dir));
	struct error err;

	cr_assert_eq(file_write(path, content, strlen(content), 0600, &err), 0);
	return path;
}

Test(config, the_current_context_is_read)
{
	char dir[] = "/tmp/kubeconfig-XXXXXX";
	auto_xfree char *path = write_config(dir, text);
	struct kube_config c;
	struct error err;

	cr_assert_eq(kube_config_read(path, NULL, &c, &err), 0, "%s", err.text);
	cr_expect_str_eq(c.server, "https://c:1");
	cr_expect_str_eq(c.ca_pem, "ca");
	cr_expect_str_eq(c.token, "secret");
	cr_expect_str_eq(c.ns, "ml");
	cr_expect_null(c.cert_pem);
	kube_config_finish(&c);
	unlink(path);
	rmdir(dir);
}

Test(config, another_context_and_files_beside_the_config)
{
	char dir[] = "/tmp/kubeconfig-XXXXXX";
	auto_xfree char *path = write_config(dir, text);
	auto_xfree char *ca = xasprintf("%s/ca.pem", dir);
	struct kube_config c;
	struct error err;

	cr_assert_eq(file_write(ca, "from file", 9, 0600, &err), 0);
	cr_assert_eq(kube_config_read(path, "two", &c, &err), 0, "%s", err.text);
	cr_expect_str_eq(c.ca_pem, "from file");
	cr_expect_str_eq(c.cert_pem, "cert");
	cr_expect_str_eq(c.key_pem, "key");
	kube_config_finish(&c);
	unlink(ca);
	unlink(path);
	rmdir(dir);
}

Test(config, what_is_wrong_is_named)
{
	static const struct {
		const char *content, *context, *says;
	} cases[] = {
		{text, "three", "has no context \"three\""},
		{"contexts: [{name: a, context: {cluster: b}}]", "a", "names no server"},
		{"contexts: [", "a", "line"},
		{"contexts: [{name: a, context: {cluster: b}}]\n"
		 "clusters: [{name: b, cluster: {server: s, certificate-authority-data: '!'}}]",
		 "a", "is not base64"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char dir[] = "/tmp/kubeconfig-XXXXXX";
		auto_xfree char *path = write_config(dir, cases[i].content);
		struct kube_config c;
		struct error err;

		cr_expect_eq(kube_config_read(path, cases[i].context, &c, &err), -1);
		cr_expect(strstr(err.text, cases[i].says), "%s", err.text);
		unlink(path);
		rmdir(dir);
	}
}
