import { useState } from 'react';
import { Check, Copy } from 'lucide-react';
import { attempt } from '@/lib/toasts';
import { IconButton } from './icon-button';

interface CopyButtonProps {
  label: string;
  /** Called on click. */
  text(): string;
  className?: string;
}

/** Copies a text to the clipboard and briefly confirms it. */
export function CopyButton({ label, text, className }: CopyButtonProps) {
  const [copied, setCopied] = useState(false);
  const copy = () =>
    attempt(async () => {
      await navigator.clipboard.writeText(text());
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    });
  return (
    <IconButton
      label={copied ? 'Copied' : label}
      icon={copied ? Check : Copy}
      onClick={copy}
      className={className ?? 'size-6'}
    />
  );
}
