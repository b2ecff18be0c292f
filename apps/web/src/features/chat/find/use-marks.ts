import { useEffect, type RefObject } from 'react';

/** The names of the marks in the style sheet. */
const everywhere = 'chat-match';
const inCurrent = 'chat-match-current';

/**
 * Marks a text in the rendered rows, also in those that are rendered later. Nothing is marked in browsers without the
 * CSS Custom Highlight API; the current row has an outline there, too.
 */
export function useMarks(
  content: RefObject<HTMLElement | null>,
  wanted: string,
  current: number | undefined,
): void {
  useEffect(() => {
    const element = content.current;
    if (!element || wanted === '' || !('Highlight' in globalThis)) return;
    const mark = () => {
      const rows = [...element.children];
      const isCurrent = (row: Element) => row.getAttribute('data-index') === String(current);
      const rangesIn = (some: Element[]) => some.flatMap((row) => rangesOf(row, wanted));
      CSS.highlights.set(everywhere, new Highlight(...rangesIn(rows)));
      CSS.highlights.set(inCurrent, new Highlight(...rangesIn(rows.filter(isCurrent))));
    };
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(element, { childList: true, characterData: true, subtree: true });
    return () => {
      observer.disconnect();
      CSS.highlights.delete(everywhere);
      CSS.highlights.delete(inCurrent);
    };
  }, [content, wanted, current]);
}

/** Where a text stands in an element, in whatever nodes: part of it may be bold. */
export function rangesOf(element: Element, wanted: string): Range[] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const places: { node: Node; offset: number }[] = [];
  let text = '';
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (let offset = 0; offset < (node.nodeValue?.length ?? 0); offset++) {
      const letter = (node.nodeValue?.[offset] ?? '').toLowerCase().replace(/\s/, ' ');
      if (letter === ' ' && text.endsWith(' ')) continue;
      // A letter can have a longer lower case, such as İ.
      for (const unit of letter) {
        text += unit;
        places.push({ node, offset });
      }
    }
  const ranges: Range[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    const [first, last] = [places[at], places[at + wanted.length - 1]];
    if (!first || !last) break;
    const range = document.createRange();
    range.setStart(first.node, first.offset);
    range.setEnd(last.node, last.offset + 1);
    ranges.push(range);
  }
  return ranges;
}
