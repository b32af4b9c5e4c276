// Buttons that copy a command of the answer.

import { element } from "./element.js";

// How long a button shows that it has copied, in milliseconds.
const SHOWN = 1500;

/** Puts a button behind each command. */
export function copyButtons() {
  for (const code of document.querySelectorAll("code.command")) {
    const button = element("button", { type: "button", class: "copy", "aria-label": `Copy: ${code.textContent}` }, ["Copy"]);
    button.addEventListener("click", async () => {
      button.textContent = (await copied(code)) ? "Copied" : "Select and copy";
      setTimeout(() => { button.textContent = "Copy"; }, SHOWN);
    });
    code.after(button);
  }
}

/** Pages that are opened as files may lack a clipboard: the command is selected then, too. */
async function copied(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return document.execCommand("copy");
  }
}
