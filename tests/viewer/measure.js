// What is measured in a page, whichever browser shows it.
"use strict";

/** Names of rows that are on the screen and cannot be read: their method is cut, or lies outside. */
function unreadable() {
  const bad = [];
  let seen = 0;
  for (const name of document.querySelectorAll(".row .name")) {
    const body = name.closest(".body").getBoundingClientRect();
    const line = name.getBoundingClientRect();
    if (line.top < body.top || line.bottom > body.bottom) continue;
    seen++;
    const method = name.querySelector("b");
    const box = method.getBoundingClientRect();
    const isWhole = method.scrollWidth <= method.clientWidth + 1 && box.width > 0 && box.left >= line.left - 1 && box.right <= line.right + 1;
    if (!isWhole || box.right > innerWidth || box.left < 0) bad.push(`${method.textContent}: ${JSON.stringify(box)} in ${JSON.stringify(line)}`);
  }
  return { seen, bad };
}

/** Until nothing of the view waits to be painted: what is clicked and moved to on a canvas is what stands there, however busy the machine is. */
const painted = (page) => page.waitForFunction(() => instrument.view.frame === undefined);

module.exports = { unreadable, painted };
