import { z } from 'zod';
import { usage } from './models.js';
import { wireFormatName } from './wire-format-name.js';

/** The id of a program’s request to the model, which the server makes up. */
export const requestId = z.string().min(1).max(100);

/** The args of `request`. */
export const requestArgs = z.object({
  request: requestId,
  format: wireFormatName,
  model: z.string(),
  purpose: z
    .enum(['turn', 'side'])
    .describe('`side`: the request offers no tools, such as one for a title.'),
  bytes: z.int().nonnegative().describe('The size of its body.'),
  messages: z.int().nonnegative(),
  tools: z.int().nonnegative(),
  reserved: usage
    .omit({ cachedTokens: true })
    .describe('The estimated usage, which counts if the real one never becomes known.'),
});

/** The args of `replaced`. */
export const replacedArgs = z.object({
  format: wireFormatName,
  call: z.string().max(200).describe('The provider’s id of the call; empty if it gave none.'),
  name: z.string().max(300).describe('The tool that the model called.'),
  input: z.string().describe('Its input as the provider wrote it.'),
  item: z.string().optional().describe('The whole call, if it has not the usual shape.'),
  text: z.string().describe('What the program is told.'),
  tool: z
    .string()
    .max(300)
    .nullable()
    .describe('The tool of the call that stands in for it; null if the text itself does.'),
  standIn: z
    .union([z.record(z.string(), z.unknown()), z.string()])
    .nullable()
    .describe('The input of that call.'),
});
