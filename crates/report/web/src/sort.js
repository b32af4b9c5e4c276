// Heads of tables that sort their rows, downwards at a second click.

import { element } from "./element.js";

// Fewer rows are seen at once.
const MANY = 4;

export function sortTables() {
  for (const table of document.querySelectorAll("table")) {
    const heads = [...table.querySelectorAll("thead th")];
    if (table.tBodies[0]?.rows.length < MANY || heads.some(({ textContent }) => !textContent.trim())) continue;
    heads.forEach((head, column) => {
      const button = element("button", { type: "button", class: "sort" }, head.childNodes);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        sort(table.tBodies[0], column, up ? 1 : -1);
      });
    });
  }
}

/** Rows without a figure come last either way. */
function sort(body, column, direction) {
  const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[column]) }));
  rows.sort(({ key: one }, { key: other }) => {
    if (one === "" || other === "") return (one === "") - (other === "");
    const numbers = typeof one === "number" && typeof other === "number";
    return direction * (numbers ? one - other : String(one).localeCompare(String(other), "en", { numeric: true }));
  });
  body.append(...rows.map(({ row }) => row));
}

/** A number, a word, or "" of what was not measured. `data-value` has what a unit of its own hides. */
export function keyOf({ dataset, textContent }) {
  if (dataset.value) return Number(dataset.value);
  const text = textContent.trim();
  if (text === "–") return "";
  const [number] = text.replaceAll(",", "").match(/^\*?-?\d+(\.\d+)?(e-?\d+)?/) ?? [];
  return number ? Number(number.replace("*", "")) : text;
}
