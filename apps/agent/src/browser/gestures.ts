import { AppError, type OperationInput, ignoreError } from '@belay/protocol';
import { viewport, type KeyInput, type Page } from './chromium.js';
import type { PageReader } from './page-reader.js';
import { upload } from './upload.js';

/** Longer texts are inserted at once: key by key they would take seconds. */
const typedByKey = 200;

/** Clicks an element, or a point of the view. */
export async function clickElement(
  page: Page,
  reader: PageReader,
  { element, x, y }: OperationInput<'browser.click'>,
): Promise<void> {
  if (element === undefined) {
    if (x === undefined || y === undefined) {
      throw new AppError('invalid_input', 'Say what to click: an element, or x and y.');
    }
    await page.mouse.click(x, y);
    return;
  }
  const handle = await reader.element(page, element);
  try {
    await handle.click();
  } catch (error) {
    if (!/not clickable|not visible|no layout/i.test(String(error))) throw error;
    // Hidden behind something, or without a box of its own: its script gets the click all the same.
    await reader.ask(page, element, '(element) => element.click()');
  }
}

/** Types text into a field, in place of what it holds; or where the focus is. */
export async function type(
  page: Page,
  reader: PageReader,
  { element, text, workspace }: OperationInput<'browser.type'> & { workspace: string },
): Promise<void> {
  if (element !== undefined) {
    const kind = await reader.ask(page, element, kindOf);
    if (kind === 'file') return upload(page, reader, { element, paths: [text], workspace });
    const handle = await reader.element(page, element);
    if (kind === 'none') {
      throw new AppError('invalid_input', `${element} is not a field that accepts text.`);
    }
    if (kind === 'set') return void (await reader.ask(page, element, setter(text)));
    await handle.focus();
    await reader.ask(page, element, selectAll);
    await page.keyboard.press('Backspace');
  }
  if (text.length > typedByKey) await page.keyboard.sendCharacter(text);
  else await page.keyboard.type(text);
}

export async function press(
  page: Page,
  reader: PageReader,
  { element, key }: Pick<OperationInput<'browser.type'>, 'element' | 'key'>,
): Promise<void> {
  if (element !== undefined) await (await reader.element(page, element)).focus();
  const keys = (key ?? '').split('+').map((name) => name.trim());
  const last = keys.pop() ?? '';
  try {
    for (const held of keys) await page.keyboard.down(held as KeyInput);
    await page.keyboard.press(last as KeyInput);
  } catch {
    throw new AppError(
      'invalid_input',
      `There is no key ${key}. Try Enter, Escape, Tab or ArrowDown.`,
    );
  } finally {
    for (const held of keys)
      await page.keyboard.up(held as KeyInput).catch(ignoreError('the page is gone'));
  }
}

export async function chooseOptions(
  page: Page,
  reader: PageReader,
  { element, options }: OperationInput<'browser.select'>,
): Promise<void> {
  const missing = await reader.ask(page, element, chooser(options));
  if (typeof missing === 'string') throw new AppError('not_found', `${element}: ${missing}`);
}

export async function scroll(
  page: Page,
  reader: PageReader,
  { element, x, y }: OperationInput<'browser.scroll'>,
): Promise<void> {
  if (element !== undefined) await (await reader.element(page, element)).scrollIntoView();
  if (x === 0 && y === 0) return;
  const moved = await page.evaluate(`(() => {
    const before = [scrollX, scrollY].join();
    scrollBy({ left: ${x}, top: ${y}, behavior: 'instant' });
    return before !== [scrollX, scrollY].join();
  })()`);
  // An element in the page scrolls instead of the page: the wheel turns over its middle.
  if (!moved) {
    const { width, height } = page.viewport() ?? viewport;
    await page.mouse.move(width / 2, height / 2);
    await page.mouse.wheel({ deltaX: x, deltaY: y });
  }
}

const kindOf = `(element) => {
  if (element.isContentEditable) return 'text';
  if (element.tagName === 'TEXTAREA') return 'text';
  if (element.tagName !== 'INPUT') return element.getAttribute('role') === 'textbox' ? 'text' : 'none';
  if (element.type === 'file') return 'file';
  if (['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'].includes(element.type)) return 'set';
  return ['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'hidden'].includes(element.type) ? 'none' : 'text';
}`;

const selectAll = `(element) => {
  if (element.select) return element.select();
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}`;

/** Bypasses a framework’s own property on the element, so that it receives the change. */
const setter = (value: string) => `(element) => {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(element, ${JSON.stringify(value)});
  element.dispatchEvent(new Event('input', { bubbles: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}`;

const chooser = (wanted: string[]) => `(element) => {
  const wanted = ${JSON.stringify(wanted)};
  if (element.tagName !== 'SELECT') return 'it is not a select field.';
  const options = [...element.options];
  const found = wanted.map((name) => options.find((option) => option.value === name || option.label.trim() === name.trim()));
  const missing = wanted.filter((_, index) => !found[index]);
  if (missing.length > 0) return 'there is no option ' + missing.join(', ') + '; there are ' + options.map((option) => option.label.trim()).join(', ') + '.';
  if (!element.multiple && wanted.length > 1) return 'only one option can be chosen.';
  for (const option of options) option.selected = found.includes(option);
  element.dispatchEvent(new Event('input', { bubbles: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
  return null;
}`;
