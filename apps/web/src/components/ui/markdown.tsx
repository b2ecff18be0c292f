import { createContext, memo, useContext, useRef, type ReactNode } from 'react';
import { visibleText } from '@belay/protocol';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { fileRefIn } from '@/lib/file-refs';
import { CopyButton } from './copy-button';

/** Opens a file when its path is clicked; null renders paths as plain text. */
export const OpenFile = createContext<((path: string, line: number) => void) | null>(null);

/** Images in model output are never fetched, since their URLs could exfiltrate data. */
const components: Components = {
  img: ({ alt, src }) => (
    <span className="text-faint">
      [picture{alt ? `: ${alt}` : ''}
      {typeof src === 'string' && src ? ` at ${src}` : ''}]
    </span>
  ),
  // ReactMarkdown has already removed URLs that would run a script.
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  pre: CodeBlock,
  code: ({ children, className }) =>
    typeof children === 'string' && !className ? (
      <FileReference text={children} />
    ) : (
      <code className={className}>{children}</code>
    ),
  input: ({ checked }) => (
    <input type="checkbox" checked={checked ?? false} readOnly disabled aria-label="Step" />
  ),
};
function CodeBlock({ children }: { children?: ReactNode }) {
  const block = useRef<HTMLPreElement>(null);
  return (
    <div className="group/code relative">
      <pre ref={block} tabIndex={0}>
        {children}
      </pre>
      <CopyButton
        label="Copy this code"
        text={() => block.current?.textContent.trimEnd() ?? ''}
        className="absolute top-1 right-1 size-6 bg-sunken opacity-0 group-hover/code:opacity-100 focus-visible:opacity-100 max-md:opacity-100"
      />
    </div>
  );
}

/** Links a path in backticks to its file, if `OpenFile` provides a handler. */
function FileReference({ text }: { text: string }) {
  const open = useContext(OpenFile);
  const file = open && fileRefIn(text);
  if (!file) return <code>{text}</code>;
  return (
    <button
      type="button"
      title="Open this file"
      onClick={() => open(file.path, file.line)}
      className="text-left hover:underline"
    >
      <code>{text}</code>
    </button>
  );
}

const plugins = [remarkGfm];

/** A single line without Markdown syntax, which needs no parser. */
const plain = /^(?!\s|\d+[.)])[\p{L}\p{N} ,.;?!'’“”()%$/-]{1,400}$/u;

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const shown = visibleText(text);
  if (plain.test(shown)) return <p className="prose-chat">{shown}</p>;
  return (
    <div className="prose-chat">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {shown}
      </ReactMarkdown>
    </div>
  );
});
