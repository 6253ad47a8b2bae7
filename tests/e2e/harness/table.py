"""What the tests have shown, as one table: given, then, result."""
import re
import textwrap

WIDTHS = (58, 64)


def row_of(item):
    """(given, then) from a docstring "given | then", else the name of the test as given."""
    text = (item.function.__doc__ or "").strip()
    if not text:
        return item.name.removeprefix("test_").replace("_", " "), ""
    callspec = getattr(item, "callspec", None)
    given, *then = re.split(r"\s+\|\s+", text.format(**(callspec.params if callspec else {})), 1)
    return given, "".join(then)


def write_table(reporter):
    rows = {}
    for kind in ("passed", "failed", "error"):
        for report in reporter.stats.get(kind, []):
            if hasattr(report, "row"):
                result = "failed" if report.failed else "ok"
                rows[report.nodeid] = (report.nodeid.split("::")[0], result, *report.row)
    if not rows:
        return
    reporter.section("given, then")
    folder = None
    for row in sorted(rows.values(), key=lambda row: row[0]):
        if row[0] != folder:
            folder = row[0]
            reporter.write_line(folder)
        for line in lines_of(*row[1:]):
            reporter.write_line(line)


def lines_of(result, given, then):
    columns = [textwrap.wrap(text, width) or [""] for text, width in zip((given, then), WIDTHS)]
    for i in range(max(map(len, columns))):
        cells = [column[i] if i < len(column) else "" for column in columns]
        yield f"  {'' if i else result:6} {cells[0]:{WIDTHS[0]}}  {cells[1]}".rstrip()
