import { Fragment } from 'react';
import { visibleParts } from '@belay/protocol';

/**
 * Text that a sandbox, a model or a file name brought, in the order in which it is: what would be invisible or reorder
 * the page is shown as its number, and letters of other directions do not mix with the page’s own text.
 */
export const VisibleText = ({ text }: { text: string }) =>
  text === '' ? null : (
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
