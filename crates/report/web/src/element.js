// Elements with attributes and children; strings become text.

const SVG = "http://www.w3.org/2000/svg";

export const element = (name, attributes, children) =>
  filled(document.createElement(name), attributes, children);

export const drawing = (name, attributes, children) =>
  filled(document.createElementNS(SVG, name), attributes, children);

function filled(one, attributes = {}, children = []) {
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  one.append(...children);
  return one;
}
