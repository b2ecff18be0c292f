import { Fragment } from 'react';
import { visibleParts } from '@belay/protocol';

/** Nothing here is invisible or has another direction, so it needs no element of its own, of which code has thousands. */
const plain = /^[\t\n\x20-\x7e]*$/;

/**
 * Text that a sandbox, a model or a file name brought, in the order in which it is: what would be invisible or reorder
 * the page is shown as its number, and letters of other directions do not mix with the page’s own text.
 */
export const VisibleText = ({ text }: { text: string }) =>
  plain.test(text) ? (
    text
  ) : (
    <bdi dir="ltr">
      {visibleParts(text).map((part, index) =>
        part.stands ? (
          <span key={index} title="An invisible character" className="text-faint">
            {part.text}
          </span>
        ) : (
          <Fragment key={index}>{part.text}</Fragment>
        ),
      )}
    </bdi>
  );
