/**
 * The page's style sheet. It follows the reader's light or dark setting, and no meaning depends on colour alone. On a
 * narrow screen a finding is a block with one line for each cell, so that nothing is cut off.
 */
export const STYLE = `
:root { color-scheme: light dark; --bg: #f6f7f9; --card: #fff; --ink: #1b2330; --soft: #566072; --line: #dfe3ea;
  --good: #13703a; --goodbg: #e3f4e9; --bad: #9d1f1f; --badbg: #fdeaea; --warn: #7a4b00; --warnbg: #fdf2dc; --link: #1f55b5; --bar: #2f66c9; --barsoft: #b9cdf2; }
@media (prefers-color-scheme: dark) { :root { --bg: #12161d; --card: #1b212b; --ink: #e8ecf3; --soft: #a3adbd; --line: #333c4a;
  --good: #7bd99b; --goodbg: #16301f; --bad: #ff9c9c; --badbg: #3a1b1e; --warn: #f3c676; --warnbg: #362a12; --link: #9dbdf8; --bar: #7aa5f5; --barsoft: #34486f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 28px; line-height: 1.25; margin: 0 0 6px; }
h2 { font-size: 20px; margin: 36px 0 12px; }
h3 { font-size: 16px; margin: 0; }
p { margin: 6px 0; max-width: 100ch; }
.soft { color: var(--soft); }
.headline { border-radius: 12px; padding: 22px 24px; border-left: 8px solid; }
.headline.good { background: var(--goodbg); border-color: var(--good); } .headline.good h1 { color: var(--good); }
.headline.bad { background: var(--badbg); border-color: var(--bad); } .headline.bad h1 { color: var(--bad); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 16px 0 0; padding: 0; }
.facts div, .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; }
.facts dt { color: var(--soft); font-size: 13px; } .facts dd { margin: 0; font-size: 22px; font-weight: 600; }
.card { margin: 0 0 14px; padding: 16px 18px; }
.count { font-size: 13px; font-weight: 600; border-radius: 99px; padding: 1px 10px; margin-left: 8px; background: var(--badbg); color: var(--bad); }
.count.fine { background: var(--goodbg); color: var(--good); }
.todo { border-left: 4px solid var(--warn); background: var(--warnbg); padding: 8px 12px; border-radius: 4px; margin: 10px 0; max-width: none; }
.scroll { overflow-x: auto; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-size: 13px; font-weight: 600; color: var(--soft); }
th, td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.id, span.id { font: 13px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
td.id { min-width: 6em; } .unbroken { white-space: nowrap; }
.findings .wide { min-width: 12em; } .bar { width: 45%; vertical-align: middle; padding-right: 0; white-space: nowrap; }
code { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
a { color: var(--link); }
.overview { list-style: none; display: flex; flex-wrap: wrap; gap: 8px; padding: 0; margin: 0 0 14px; }
.overview a { display: block; padding: 3px 12px; border: 1px solid var(--line); border-radius: 99px; background: var(--card); color: var(--ink); text-decoration: none; }
.overview a:hover { border-color: var(--soft); }
.done { font-size: 13px; white-space: nowrap; padding-right: 0; } .repaired { color: var(--good); font-weight: 600; }
.findings .num .soft { font-size: 13px; }
.swatch { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin: 0 5px 0 14px; vertical-align: -1px; }
.swatch:first-child { margin-left: 0; } .swatch.w { background: var(--barsoft); } .swatch.p { background: var(--bar); }
.part, .rest { display: inline-block; height: 8px; background: var(--bar); } .rest { background: var(--barsoft); }
@media (max-width: 1060px) {
  main { padding: 16px 12px 40px; } h1 { font-size: 24px; } .headline { padding: 16px; } .card { padding: 14px; }
  .findings, .findings tbody, .findings tr, .findings td { display: block; } .findings thead { display: none; }
  .findings tr { border-top: 1px solid var(--line); padding: 8px 0; }
  .findings td { display: grid; grid-template-columns: 120px minmax(0, 1fr); border: 0; padding: 3px 0; text-align: left; white-space: normal; }
  .findings td:has(div:empty) { display: none; }
  .findings td::before { content: attr(data-name); color: var(--soft); font: 600 13px/1.7 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
}
@media (max-width: 520px) {
  .facts { grid-template-columns: 1fr 1fr; gap: 8px; } .findings td { grid-template-columns: minmax(0, 1fr); }
  .chart.columns3 tr, .chart.columns4 tr { display: grid; grid-template-columns: 1.5fr repeat(var(--numbers), 1fr); border-bottom: 1px solid var(--line); padding: 5px 0; }
  .columns3 { --numbers: 2; } .columns4 { --numbers: 3; }
  .chart.columns3 :is(th, td), .chart.columns4 :is(th, td) { border: 0; padding: 1px 0; min-width: 0; }
  .chart.columns3 .bar, .chart.columns4 .bar { grid-column: 1 / -1; width: auto; line-height: 12px; }
  .chart.columns3 th.bar, .chart.columns4 th.bar { display: none; }
  .chart td:first-child { overflow-wrap: anywhere; }
}
@media print { body { background: none; } main { max-width: none; padding: 0; } .card { break-inside: avoid; } }
`;
