"""The agent's role, as its manifest grants it."""
import yaml

ACCOUNT = "system:serviceaccount:federator-system:member-agent"
# Resources that only an agent without a hub needs.
STANDALONE = {"jobs", "queues", "jobs/status"}


def granted(role):
    """{(resource, verb)} of all rules in the file."""
    rules = [rule for document in yaml.safe_load_all(role.read_text())
             if document for rule in document.get("rules", [])]
    return {(resource, verb) for rule in rules for resource in rule["resources"]
            for verb in rule["verbs"]}
