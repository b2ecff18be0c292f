const fence = /^ {0,3}(```|~~~)/;
/** A line that cannot continue a list, a quote, a table or indented code of the block before it. */
const begins = /^(?![-*+>|]|\d+[.)])\S/;

/**
 * The blocks of Markdown that is being written: of these only the last one changes, so that the others are not parsed
 * again with every word. Splits only where the parts render the same as the whole.
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
