import type { ClickOptions, ElementHandle } from 'puppeteer-core';

/** Clicks an element; looks it up again if it was re-rendered or has moved since the lookup. */
export async function clickWhenThere(
  find: () => Promise<{ asElement(): unknown }>,
  options: ClickOptions = {},
): Promise<ElementHandle<Element> | null> {
  for (let tries = 0; ; tries += 1) {
    const element = (await find()).asElement() as ElementHandle<Element> | null;
    try {
      const missed = await clickOnce(element, options);
      if (missed === undefined) return element;
      if (tries === 20) throw new Error(`The click hit something else: ${missed}`);
    } catch (error) {
      if (tries === 20 || !/detached|not clickable/i.test(String(error))) throw error;
    }
  }
}

/** Resolves to what was hit instead of the element, if it moved. */
async function clickOnce(
  element: ElementHandle<Element> | null,
  options: ClickOptions,
): Promise<string | undefined> {
  const isReached = await element?.evaluate(standsStill);
  const watch = isReached ? await element?.evaluateHandle(watchClick) : undefined;
  // A click may close the page or navigate away.
  const missed = () => watch?.evaluate((clicked) => clicked.missed()).catch(() => undefined);
  try {
    await element?.click(options);
  } catch (error) {
    await missed();
    throw error;
  }
  return missed();
}

/**
 * Runs in the page. Resolves to true once the element has kept its position and a click would reach
 * it, and to false after two seconds, as the overlap may be permanent.
 */
function standsStill(element: Element): Promise<boolean> {
  return new Promise((done) => {
    const end = performance.now() + 2_000;
    let before: string | undefined;
    const look = () => {
      const [box = element.getBoundingClientRect()] = element.getClientRects();
      const { x, y, width, height } = box;
      const now = `${x} ${y}`;
      const hit = document.elementFromPoint(x + width / 2, y + height / 2);
      // Outside of the viewport nothing is hit; clicking scrolls the element into view first.
      const isReached = hit === null || element.contains(hit);
      if (now === before && isReached) return done(true);
      if (performance.now() > end) return done(false);
      before = now;
      soon();
    };
    // A page in the background renders no frames.
    const soon = () => {
      let isCalled = false;
      const once = () => {
        if (!isCalled) look();
        isCalled = true;
      };
      requestAnimationFrame(once);
      setTimeout(once, 100);
    };
    look();
  });
}

/**
 * Runs in the page: cancels the events of a click that misses the element because the layout has
 * moved. `missed` stops watching and returns what was hit instead.
 */
function watchClick(element: Element): { missed(): string | undefined } {
  const pointers = ['pointerdown', 'mousedown', 'pointerup', 'mouseup'];
  const types = [...pointers, 'click', 'dblclick', 'auxclick', 'contextmenu'];
  let instead: string | undefined;
  let isJudged = false;
  const look = (event: Event) => {
    if (event.type === 'pointerdown' && !isJudged) {
      isJudged = true;
      const [hit] = event.composedPath();
      if (!event.composedPath().includes(element) && hit instanceof Element) {
        instead = hit.outerHTML.slice(0, 200);
      }
    }
    if (instead === undefined) return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  for (const type of types) window.addEventListener(type, look, true);
  return {
    missed() {
      for (const type of types) window.removeEventListener(type, look, true);
      return instead;
    },
  };
}
