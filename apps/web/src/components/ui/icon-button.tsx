import type { ButtonHTMLAttributes } from 'react';
import { Tooltip } from 'radix-ui';
import type { LucideIcon } from 'lucide-react';
import { clsx } from 'clsx';
import { useShortcut } from '@/lib/commands';

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
  icon: LucideIcon;
  pressed?: boolean;
  /** The id of the equivalent command, whose shortcut is shown in the tooltip. */
  command?: string;
}

/** A button with only an icon. Its label is in the tooltip and read by screen readers. */
export function IconButton({
  label,
  icon: Icon,
  pressed,
  command = '',
  className,
  ...rest
}: IconButtonProps) {
  const keys = useShortcut(command);
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>
        <button
          type="button"
          aria-label={label}
          aria-pressed={pressed}
          className={clsx(
            'inline-flex shrink-0 items-center justify-center rounded-md text-muted transition-colors duration-100 hover:bg-hover hover:text-ink disabled:opacity-40 disabled:hover:bg-transparent',
            pressed && 'bg-hover text-ink',
            !/(^|\s)size-/.test(className ?? '') && 'size-7',
            className,
          )}
          {...rest}
        >
          <Icon size={15} strokeWidth={1.75} aria-hidden />
        </button>
      </Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={6}
          className="z-50 rounded-md bg-solid px-2 py-1 text-xs text-on-solid"
        >
          {label}
          {keys && <span className="ml-2 opacity-70">{keys}</span>}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
