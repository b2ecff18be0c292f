const fence = /^ {0,3}(```|~~~)/;
/** Matches a line that cannot continue a list, quote, table or indented code of the last block. */
const begins = /^(?![-*+>|]|\d+[.)])\S/;

/**
 * Splits Markdown that is being written into blocks. Only the last one changes, so that the others
 * are not parsed again with every word. Splits only where the parts render the same as the whole.
 */
export function replyBlocks(text: string): string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let fenced = false;
  for (const line of text.split('\n')) {
    if (!fenced && block.at(-1) === '' && begins.test(line)) {
      blocks.push(block.join('\n'));
      block = [];
    }
    if (fence.test(line)) fenced = !fenced;
    block.push(line);
  }
  blocks.push(block.join('\n'));
  return blocks;
}
