import { CopyButton } from './copy-button';

/** A text with a copy button, such as a command or a token. */
export const CopyText = ({ label, text }: { label: string; text: string }) => (
  <div className="flex items-center gap-2 rounded-md border bg-sunken py-1 pr-1 pl-3">
    <code className="min-w-0 flex-1 text-xs break-all select-all">{text}</code>
    <CopyButton label={label} text={() => text} />
  </div>
);
