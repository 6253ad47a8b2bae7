"""What the tests have shown, as one table: given, then, result."""
import textwrap

WIDTHS = (58, 64)


def row_of(item):
    """(given, then) from a docstring "given | then", else the name of the test as given."""
    text = (item.function.__doc__ or "").strip()
    if not text:
        return item.name.removeprefix("test_").replace("_", " "), ""
    callspec = getattr(item, "callspec", None)
    given, _, then = text.format(**(callspec.params if callspec else {})).partition(" | ")
    return given, then


def write_table(reporter):
    rows = {}
    for report in (r for kind in ("passed", "failed", "error") for r in reporter.stats.get(kind, [])):
        if hasattr(report, "row"):
            rows[report.nodeid] = (*report.row, "failed" if report.failed else "ok")
    if not rows:
        return
    reporter.section("given, then")
    folder = None
    for nodeid, (given, then, result) in sorted(rows.items(), key=lambda row: row[0].split("::")[0]):
        if nodeid.split("::")[0] != folder:
            folder = nodeid.split("::")[0]
            reporter.write_line(folder)
        columns = [textwrap.wrap(text, width) or [""]
                   for text, width in zip((given, then), WIDTHS)]
        for i in range(max(map(len, columns))):
            cells = [column[i] if i < len(column) else "" for column in columns]
            reporter.write_line(f"  {result if i == 0 else '':6} {cells[0]:58}  {cells[1]}".rstrip())
