import { z } from 'zod';
import { endpointOf } from '../endpoint.js';
import { defineOperation, operationGroup, type SubjectContext } from '../operation.js';

/** A reference to an element of the page, such as e12; it stays the same as long as the element exists. */
const reference = z.string().regex(/^e\d+$/, 'a reference such as e12 from browser.read');

const page = z.object({
  url: z.string(),
  title: z.string(),
  text: z
    .string()
    .describe('Readable text with [e1] references; after an action, what changed in it.'),
  truncated: z.boolean(),
  notes: z
    .array(z.string())
    .describe('What else happened: dialogs, downloads, popups, errors, failed requests.'),
  console: z
    .array(z.string())
    .optional()
    .describe(
      'The latest console messages other than errors; browser.console returns all of them.',
    ),
});

/** Far beyond any viewport; Chromium stops responding at coordinates that it cannot represent. */
const maxPixels = 100_000;
/** A refinement, because a `maximum` of each coordinate would lengthen every prompt. */
const pixels = z
  .number()
  .nonnegative()
  .refine((number) => number <= maxPixels, `at most ${maxPixels}`);

/** An element, or a point of the viewport in pixels. */
const point = z.object({
  element: reference.optional(),
  x: pixels.optional(),
  y: pixels.optional(),
});
type Point = z.output<typeof point>;

/** A point as text; empty when none is given. */
const placeOf = ({ element, x, y }: Point): string =>
  element ?? (x === undefined ? '' : `${x}, ${y ?? 0}`);

const briefPage = ({ truncated, notes, console, text, ...more }: z.output<typeof page>) => ({
  ...more,
  ...(truncated && { truncated }),
  ...(notes.length > 0 && { notes }),
  ...(console && console.length > 0 && { console }),
  text,
});

/** There is only one page at a time: calls run in order, and rules match its address. */
const onPage = {
  subject: (_: unknown, { page: address }: SubjectContext) =>
    address === null ? '' : endpointOf(address),
  display: 'page',
  concurrent: false,
  // Most sessions open no page: its fourteen operations would be a third of each prompt’s tools.
  search: 'opened',
} as const;

export const browserOperations = operationGroup({
  'browser.open': defineOperation({
    title: 'Open a page',
    description:
      'Opens a URL in the sandbox’s browser and returns the readable text of the page. localhost is the sandbox. Operations to click, type, read, look at and script the page are offered from then on.',
    verb: 'browse',
    risk: 'network',
    essential: true,
    input: z.object({
      url: z.string().min(1),
      timeout: z.number().positive().max(300).default(30).describe('Seconds.'),
    }),
    output: page,
    brief: briefPage,
    subject: ({ url }) => endpointOf(url),
    summary: ({ url }) => url,
    display: 'page',
    found: pageOperations,
  }),
  'browser.read': defineOperation({
    title: 'Read the page',
    description:
      'Reads the open page: its readable text, with references at links and fields, or its HTML.',
    risk: 'read',
    audience: ['model', 'user'], // It may start the browser, and changes what the agent sees.
    essential: true,
    input: z.object({
      format: z.enum(['text', 'html']).default('text'),
      offset: z.int().nonnegative().default(0).describe('Characters to skip, for a long page.'),
    }),
    output: page,
    brief: briefPage,
    ...onPage,
  }),
  'browser.click': defineOperation({
    title: 'Click',
    description: 'Clicks an element by its reference, or a point of the viewport in pixels.',
    risk: 'network',
    input: point,
    output: page,
    brief: briefPage,
    ...onPage,
    summary: (where, context) => placeOf(where) || onPage.subject(null, context),
  }),
  'browser.hover': defineOperation({
    title: 'Hover over an element',
    description: 'Moves the pointer over an element or a point, so that menus and tooltips appear.',
    risk: 'read',
    audience: ['model', 'user'], // It may start the browser, and changes what the agent sees.
    input: point,
    output: page,
    brief: briefPage,
    ...onPage,
    summary: (where, context) => placeOf(where) || onPage.subject(null, context),
  }),
  'browser.drag': defineOperation({
    title: 'Drag and drop',
    description:
      'Drags with the pointer from one point to another in steps: elements, sliders, drawings.',
    risk: 'network',
    input: z.object({ from: point, to: point }),
    output: page,
    brief: briefPage,
    ...onPage,
    summary: ({ from, to }) => `${placeOf(from)} → ${placeOf(to)}`,
  }),
  'browser.type': defineOperation({
    title: 'Type into the page',
    description:
      'Types text into the field with this reference, replacing its text, or into the focused element; `submit` presses Enter.',
    risk: 'network',
    input: z.object({
      element: reference.optional(),
      text: z.string(),
      key: z.string().optional().describe('A named key instead of text, such as Escape.'),
      submit: z.boolean().default(false),
    }),
    output: page,
    brief: briefPage,
    ...onPage,
    summary: ({ text, key }) => (key === undefined ? text : `<${key}>`),
  }),
  'browser.select': defineOperation({
    title: 'Choose an option',
    description: 'Chooses options of a select field by value or label.',
    risk: 'network',
    input: z.object({ element: reference, options: z.array(z.string()).min(1) }),
    output: page,
    brief: briefPage,
    ...onPage,
    summary: ({ element, options }) => `${element} ${options.join(', ')}`,
  }),
  'browser.upload': defineOperation({
    title: 'Choose files',
    description:
      'Chooses workspace files for a file field, or for the file chooser that a click on this element opens.',
    risk: 'network',
    input: z.object({
      element: reference,
      paths: z.array(z.string().min(1)).min(1).max(20).describe('Relative to the workspace.'),
    }),
    output: page,
    brief: briefPage,
    ...onPage,
    summary: ({ element, paths }) => `${element} ${paths.join(', ')}`,
    paths: ({ paths }) => paths,
  }),
  'browser.evaluate': defineOperation({
    title: 'Run JavaScript in the page',
    description:
      'Runs JavaScript in the page for at most 20 seconds; `value` is the awaited value of the last expression: text as it is, anything else as JSON.',
    risk: 'execute',
    input: z.object({ script: z.string().min(1).max(50_000) }),
    brief: briefPage,
    output: page.extend({ value: z.string().describe('Truncated after 20,000 characters.') }),
    ...onPage,
    // Page and script: the same script does something else on another page.
    subject: ({ script }, context) => `${onPage.subject(null, context)} ${script}`.trim(),
    subjectKind: 'command',
    summary: ({ script }) => script,
  }),
  'browser.resize': defineOperation({
    title: 'Resize the viewport',
    description:
      'Sets the size of the viewport in pixels, initially 1280 × 800; `mobile` emulates a phone and reloads.',
    risk: 'read',
    audience: ['model', 'user'], // It may start the browser, and changes what the agent sees.
    input: z.object({
      width: z.int().min(200).max(2_000),
      height: z.int().min(200).max(2_000),
      mobile: z.boolean().default(false),
    }),
    output: page,
    brief: briefPage,
    ...onPage,
    summary: ({ width, height }) => `${width} × ${height}`,
  }),
  'browser.scroll': defineOperation({
    title: 'Scroll',
    description: 'Scrolls the page, or scrolls an element into view.',
    risk: 'read',
    audience: ['model', 'user'], // It may start the browser, and changes what the agent sees.
    input: z.object({
      element: reference.optional(),
      x: z.number().default(0).describe('Pixels to the right.'),
      y: z.number().default(0).describe('Pixels down.'),
    }),
    output: page,
    brief: briefPage,
    ...onPage,
    summary: ({ element }, context) => element ?? onPage.subject(null, context),
  }),
  'browser.back': defineOperation({
    title: 'Go back',
    description: 'Goes one page back or `forward`, or reloads the page with `reload`.',
    risk: 'network',
    input: z.object({ to: z.enum(['back', 'forward', 'reload']).default('back') }),
    output: page,
    brief: briefPage,
    ...onPage,
  }),
  'browser.wait': defineOperation({
    title: 'Wait for the page',
    description: 'Waits until a text appears (with `gone`: disappears), or for some seconds.',
    risk: 'read',
    audience: ['model', 'user'], // It may start the browser, and changes what the agent sees.
    input: z.object({
      text: z.string().optional(),
      gone: z.boolean().default(false),
      seconds: z.number().positive().max(300).default(10),
    }),
    output: page,
    brief: briefPage,
    ...onPage,
    summary: ({ text }, context) => text ?? onPage.subject(null, context),
    polls: () => true,
  }),
  'browser.screenshot': defineOperation({
    title: 'Take a screenshot',
    description:
      'Shows you a picture of the page. To find and use elements, browser.read is better.',
    risk: 'read',
    audience: ['model', 'user'], // It may start the browser, and changes what the agent sees.
    input: z.object({
      fullPage: z.boolean().default(false).describe('The page from its top, at most 2,000 pixels.'),
    }),
    output: z.object({
      url: z.string(),
      image: z.string().describe('The picture’s blob.'),
      width: z.int().positive(),
      height: z.int().positive(),
    }),
    ...onPage,
    images: ({ image }) => [image],
  }),
  'browser.console': defineOperation({
    title: 'Read the console',
    description: 'Reads the page’s console messages and failed requests.',
    risk: 'read',
    input: z.object({ limit: z.int().positive().max(500).default(50) }),
    output: z.object({
      messages: z.array(z.object({ level: z.string(), text: z.string(), url: z.string() })),
    }),
    ...onPage,
  }),
});

/** The operations on an open page. */
function pageOperations(): string[] {
  return Object.values(browserOperations).flatMap(({ name, search }) =>
    search === 'opened' ? [name] : [],
  );
}
