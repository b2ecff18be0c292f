import { z } from 'zod';
import { defineOperation } from '../operation.js';

/** An element of the page by its reference, such as e12; it stays the same while the element lives. */
const reference = z.string().regex(/^e\d+$/, 'a reference such as e12 from browser.read');

const page = z.object({
  url: z.string(),
  title: z.string(),
  text: z.string().describe('Readable text with [e1] references at links, buttons and fields.'),
  truncated: z.boolean(),
  notes: z
    .array(z.string())
    .describe('What happened besides: dialogs, downloads, popups, console errors.'),
});

export const browserOperations = {
  'browser.open': defineOperation({
    name: 'browser.open',
    title: 'Open a page',
    description:
      'Opens an address in the sandbox’s browser and answers with its readable text. localhost means the sandbox.',
    risk: 'network',
    input: z.object({
      url: z.string().min(1),
      timeout: z.number().positive().max(300).default(30).describe('Seconds.'),
    }),
    output: page,
  }),
  'browser.read': defineOperation({
    name: 'browser.read',
    title: 'Read the page',
    description:
      'Reads the page that is open: readable text with links and form fields by reference, or its HTML.',
    risk: 'read',
    input: z.object({
      format: z.enum(['text', 'html']).default('text'),
      offset: z.int().nonnegative().default(0).describe('Characters to skip, for a long page.'),
    }),
    output: page,
  }),
  'browser.click': defineOperation({
    name: 'browser.click',
    title: 'Click',
    description: 'Clicks an element by reference, or a point of the view in pixels.',
    risk: 'network',
    input: z.object({
      element: reference.optional(),
      x: z.number().nonnegative().optional(),
      y: z.number().nonnegative().optional(),
    }),
    output: page,
  }),
  'browser.type': defineOperation({
    name: 'browser.type',
    title: 'Type into the page',
    description:
      'Types text into a field by reference (replacing what it holds), or to where the focus is; `submit` presses Enter after it.',
    risk: 'network',
    input: z.object({
      element: reference.optional(),
      text: z.string(),
      key: z.string().optional().describe('One named key instead of text, such as Escape.'),
      submit: z.boolean().default(false),
    }),
    output: page,
  }),
  'browser.select': defineOperation({
    name: 'browser.select',
    title: 'Choose an option',
    description: 'Chooses options of a select field by their value or label.',
    risk: 'network',
    input: z.object({ element: reference, options: z.array(z.string()).min(1) }),
    output: page,
  }),
  'browser.scroll': defineOperation({
    name: 'browser.scroll',
    title: 'Scroll',
    description: 'Scrolls the page, or an element into view.',
    risk: 'read',
    input: z.object({
      element: reference.optional(),
      x: z.number().default(0).describe('Pixels to the right.'),
      y: z.number().default(0).describe('Pixels down.'),
    }),
    output: page,
  }),
  'browser.back': defineOperation({
    name: 'browser.back',
    title: 'Go back',
    description: 'Goes one page back, or `forward`, or loads the page again with `reload`.',
    risk: 'network',
    input: z.object({ to: z.enum(['back', 'forward', 'reload']).default('back') }),
    output: page,
  }),
  'browser.wait': defineOperation({
    name: 'browser.wait',
    title: 'Wait for the page',
    description: 'Waits until a text shows, until it is gone, or for some seconds.',
    risk: 'read',
    input: z.object({
      text: z.string().optional(),
      gone: z.boolean().default(false),
      seconds: z.number().positive().max(300).default(10),
    }),
    output: page,
  }),
  'browser.screenshot': defineOperation({
    name: 'browser.screenshot',
    title: 'Take a screenshot',
    description:
      'Takes a picture of the page; models that see images are shown it. To find and use elements browser.read is better.',
    risk: 'read',
    input: z.object({
      fullPage: z
        .boolean()
        .default(false)
        .describe('More than the view: the page from its top, 2,000 pixels at most.'),
    }),
    output: z.object({
      url: z.string(),
      image: z.string().describe('The picture’s blob.'),
      width: z.int().positive(),
      height: z.int().positive(),
    }),
  }),
  'browser.console': defineOperation({
    name: 'browser.console',
    title: 'Read the console',
    description: 'Reads the page’s console messages and failed requests.',
    risk: 'read',
    input: z.object({ limit: z.int().positive().max(500).default(50) }),
    output: z.object({
      messages: z.array(z.object({ level: z.string(), text: z.string(), url: z.string() })),
    }),
  }),
};
