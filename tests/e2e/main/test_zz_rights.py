"""The agent's role, after everything else of this suite has run under it: nothing missing, nothing
that was never used."""
import yaml

ACCOUNT = "system:serviceaccount:federator-system:member-agent"
# Rules that only a run alone, without a hub, needs: the suite `standalone` covers them.
STANDALONE = {"jobs", "queues", "jobs/status"}


def used_rights(member):
    """{(resource, verb)} of what the agent was allowed, from the audit log."""
    used = set()
    for event in member.audit.events(user=ACCOUNT, subresource=None, stage=None):
        target = event.get("objectRef")
        if not target or event["annotations"].get("authorization.k8s.io/decision") != "allow":
            continue
        resource = target["resource"]
        if target.get("subresource"):
            resource += "/" + target["subresource"]
        used.add((resource, event["verb"]))
    return used


def granted_rights(role):
    rules = [rule for document in yaml.safe_load_all(role.read_text())
             if document for rule in document.get("rules", [])]
    return {(resource, verb) for rule in rules for resource in rule["resources"]
            for verb in rule["verbs"]}


def test_the_role_lacks_no_rule(fed):
    for name in ("gpu", "large"):
        refused = fed.members[name].audit.forbidden(user=ACCOUNT)
        assert not [(e["verb"], e["requestURI"]) for e in refused]


def test_the_role_has_no_rule_that_is_never_used(fed, role):
    used = used_rights(fed.members["gpu"]) | used_rights(fed.members["large"])
    unused = {(resource, verb) for resource, verb in granted_rights(role) - used
              if resource not in STANDALONE}
    assert not unused, sorted(unused)
