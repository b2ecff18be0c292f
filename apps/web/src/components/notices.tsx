import { Bell } from 'lucide-react';
import { Popover } from 'radix-ui';
import { clsx } from 'clsx';
import { IconButton } from '@/components/ui/icon-button';
import { VisibleText } from '@/components/ui/visible-text';
import { useToasts } from '@/lib/toasts';

/** The notices of this visit, to read again after they ended; nothing before the first one. */
export function Notices() {
  const past = useToasts((state) => state.past);
  if (past.length === 0) return null;
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <IconButton label="Notices" icon={Bell} />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          aria-label="Notices"
          className="z-50 max-h-[60vh] w-100 max-w-[calc(100vw-24px)] overflow-y-auto rounded-md border border-line-strong bg-panel text-sm"
        >
          <ul className="divide-y">
            {past.map(({ id, text, tone, time }) => (
              <li key={id} className="flex gap-3 px-3 py-2">
                <time className="shrink-0 text-xs leading-5 text-faint tabular-nums">
                  {new Date(time).toLocaleTimeString()}
                </time>
                <span className={clsx('min-w-0 break-words', tone === 'fail' && 'text-fail')}>
                  <VisibleText text={text} />
                </span>
              </li>
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
