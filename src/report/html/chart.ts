/** A row of a chart: a name, some numbers, and a bar. `part` of the bar is drawn darker. */
interface Row {
  cells: string[];
  whole: number;
  part?: number;
}

/**
 * A table with a bar in each row. On a narrow screen the bar is below the numbers.
 *
 * @param full the value of a full-width bar
 */
export function chart(
  head: readonly string[],
  rows: readonly Row[],
  full = Math.max(1, ...rows.map(({ whole }) => whole)),
): string {
  const isNumber = (column: number) => (column === 0 ? '' : ' class="num"');
  const width = (value: number) => `${((100 * value) / full).toFixed(1)}%`;
  const names = head.map((name, column) => `<th scope="col"${isNumber(column)}>${name}</th>`);
  const lines = rows.map(({ cells, whole, part = whole }) => {
    const parts = `<span class="part" style="width:${width(part)}"></span><span class="rest" style="width:${width(whole - part)}"></span>`;
    const shown = cells.map((cell, column) => `<td${isNumber(column)}>${cell}</td>`);
    return `<tr>${shown.join('')}<td class="bar">${parts}</td></tr>`;
  });
  return `<table class="chart columns${head.length}"><thead><tr>${names.join('')}<th class="bar"></th></tr></thead><tbody>${lines.join('')}</tbody></table>`;
}
