import { readableJson, type Event } from '@belay/protocol';
import { byOperation, on } from './by-operation';

/** The input of a call as readable text: commands and patches as they are, all else as JSON. */
export const readableInput = (event: Event): string => textOf(event) ?? readableJson(event.args);

const textOf = byOperation<string>(
  on('terminal.run', ({ args }) => args.command),
  on('files.patch', ({ args }) => args.patch),
  on('files.write', ({ args }) => JSON.stringify(args)),
  on('files.edit', ({ args }) => JSON.stringify(args)),
);
