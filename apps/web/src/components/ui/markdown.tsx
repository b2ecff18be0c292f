import { memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Pictures of model output are never fetched: an address could carry data out. */
const components: Components = {
  img: ({ alt, src }) => (
    <span className="text-faint">
      [picture{alt ? `: ${alt}` : ''}
      {typeof src === 'string' && src ? ` at ${src}` : ''}]
    </span>
  ),
  // An address that would run something is dropped before it comes here.
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  input: ({ checked }) => (
    <input type="checkbox" checked={checked ?? false} readOnly disabled aria-label="Step" />
  ),
};
const plugins = [remarkGfm];

/** One line without any sign of Markdown needs no parser. */
const plain = /^(?!\s|\d+[.)])[\p{L}\p{N} ,.;?!'’“”()%$/-]{1,400}$/u;

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (plain.test(text)) return <p className="prose-chat">{text}</p>;
  return (
    <div className="prose-chat">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});
