import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, type OperationInput } from '@belay/protocol';
import type { Page } from './chromium.js';
import type { PageReader } from './page-reader.js';

type Place = OperationInput<'browser.hover'>;

/** Libraries recognize a drag only after several movements. */
const dragSteps = 12;
/** Pixels after which Chromium recognizes a drag. */
const dragBegin = 8;
const drawnDelayMs = 100;

/** Moves the pointer over an element, or a point of the view. */
export async function hover(page: Page, reader: PageReader, place: Place): Promise<void> {
  const { x, y } = await pointOf(page, reader, place);
  await page.mouse.move(x, y);
}

/** Presses at one place and releases at another; the pointer is always up afterwards. */
export async function drag(
  page: Page,
  reader: PageReader,
  { from, to }: OperationInput<'browser.drag'>,
): Promise<void> {
  const start = await pointOf(page, reader, from);
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  try {
    // The drag must have begun before the page scrolls to the place where it ends.
    await page.mouse.move(start.x + dragBegin, start.y + dragBegin, { steps: 3 });
    const end = await pointOf(page, reader, to);
    await page.mouse.move(end.x, end.y, { steps: dragSteps });
    // After scrolling, the page must be drawn before Chromium finds the target of an HTML drag.
    await sleep(drawnDelayMs);
    await page.mouse.move(end.x + 1, end.y);
    await page.mouse.move(end.x, end.y);
    await sleep(drawnDelayMs);
  } finally {
    await page.mouse.up();
  }
}

/** A point in the view; an element is scrolled into it first. */
async function pointOf(
  page: Page,
  reader: PageReader,
  { element, x, y }: Place,
): Promise<{ x: number; y: number }> {
  if (element === undefined) {
    if (x !== undefined && y !== undefined) return { x, y };
    throw new AppError('invalid_input', 'Say where: an element, or x and y.');
  }
  const handle = await reader.element(page, element);
  try {
    await handle.scrollIntoView();
    return await handle.clickablePoint();
  } catch (error) {
    if (!/not clickable|not visible|no layout/i.test(String(error))) throw error;
    throw new AppError('conflict', `${element} cannot be seen: it is hidden or empty.`);
  } finally {
    await handle.dispose();
  }
}
