"""The audit log of a kube-apiserver: who asked for what, and what came of it."""
import json
import os


class AuditLog:
    def __init__(self, path):
        self.path = path

    def mark(self):
        """A place to read from later."""
        return os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def events(self, since=0, user=None, verb=None, resource=None, subresource="", name=None,
               stage="ResponseComplete"):
        """Events after a mark, oldest first; None matches anything, also as a subresource."""
        with open(self.path) as log:
            log.seek(since)
            found = [json.loads(line) for line in log if line.endswith("\n")]

        def fits(event):
            target = event.get("objectRef", {})
            wanted = [(stage, event["stage"]), (user, event["user"].get("username")),
                      (verb, event["verb"]), (resource, target.get("resource")),
                      (subresource, target.get("subresource", "")), (name, target.get("name"))]
            return all(want is None or want == have for want, have in wanted)
        return [event for event in found if fits(event)]

    def pod_posts(self, since, job):
        """{pod of the job: codes of the answers to its POSTs since a mark}; dry runs make none."""
        codes = {}
        for event in self.events(since, verb="create", resource="pods"):
            pod = event["objectRef"].get("name", "")
            if pod.startswith(f"{job}-") and "dryRun" not in event["requestURI"]:
                codes.setdefault(pod, []).append(event["responseStatus"]["code"])
        return codes

    def posted_again(self, since, job):
        """Of pod_posts() what was POSTed again, unless the server itself had given the first up."""
        return {pod: codes for pod, codes in self.pod_posts(since, job).items()
                if any(code < 500 and code != 429 for code in codes[:-1])}

    def allowed(self, user):
        """{(resource, verb)} of all that RBAC has let the user do."""
        used = set()
        for event in self.events(user=user, subresource=None, stage=None):
            target = event.get("objectRef")
            decision = event.get("annotations", {}).get("authorization.k8s.io/decision")
            if target and decision == "allow":
                parts = [target["resource"], target.get("subresource")]
                used.add(("/".join(filter(None, parts)), event["verb"]))
        return used

    def forbidden(self, since=0, user=None):
        """What RBAC refused: a rule that is missing."""
        return [e for e in self.events(since, user=user, subresource=None)
                if e.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid"]
