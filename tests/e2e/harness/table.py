"""What the tests have shown, as one table: given, then, result."""
import json
import re
import textwrap

WIDTHS = (58, 64)
PLACEHOLDER = re.compile(r"\{\w+\}")


def row_of(item):
    """A test's docstring "given | then" as {given, then, cases}: cases is what all of its cases have
    in common. Without a docstring the name of the test is given."""
    text = (item.function.__doc__ or "").strip()
    if not text:
        return {"given": item.name.removeprefix("test_").replace("_", " "), "then": "", "cases": ""}
    callspec = getattr(item, "callspec", None)
    given, then = parts(text.format(**(callspec.params if callspec else {})))
    return {"given": given, "then": then, "cases": parts(PLACEHOLDER.sub("...", text))}


def parts(text):
    """(given, then)"""
    given, *then = re.split(r"\s+\|\s+", text, 1)
    return given, "".join(then)


def rows_of(reporter):
    """Of all tests that ended: {test, ok, given, then, cases}, in the order of files."""
    rows = {}
    for kind in ("passed", "failed", "error"):
        for report in reporter.stats.get(kind, []):
            if hasattr(report, "row"):
                rows[report.nodeid] = {"test": report.nodeid.partition("[")[0],
                                       "ok": not report.failed, **report.row}
    return sorted(rows.values(), key=lambda row: row["test"].partition("::")[0])


def write_table(reporter):
    """Prints the rows; beside a JUnit file they are kept for tests/tools/table."""
    rows = rows_of(reporter)
    if not rows:
        return
    xml = reporter.config.getoption("xmlpath")
    if xml:
        with open(xml.removesuffix(".xml") + ".rows", "w") as out:
            json.dump(rows, out)
    reporter.section("given, then")
    file = None
    for row in rows:
        if row["test"].partition("::")[0] != file:
            file = row["test"].partition("::")[0]
            reporter.write_line(file)
        for line in lines_of("ok" if row["ok"] else "failed", row["given"], row["then"]):
            reporter.write_line(line)


def lines_of(result, given, then):
    columns = [textwrap.wrap(text, width) or [""] for text, width in zip((given, then), WIDTHS)]
    for i in range(max(map(len, columns))):
        cells = [column[i] if i < len(column) else "" for column in columns]
        yield f"  {'' if i else result:6} {cells[0]:{WIDTHS[0]}}  {cells[1]}".rstrip()
