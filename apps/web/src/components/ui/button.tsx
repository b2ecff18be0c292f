import type { ButtonHTMLAttributes } from 'react';
import { clsx } from 'clsx';

type Look = 'plain' | 'solid' | 'amber' | 'ghost' | 'danger';

const looks: Record<Look, string> = {
  plain: 'border border-line-strong bg-panel hover:bg-hover',
  solid: 'border border-solid bg-solid text-on-solid hover:opacity-90',
  amber: 'border border-amber-fill bg-amber-fill text-on-amber hover:opacity-90',
  ghost: 'border border-transparent text-muted hover:bg-hover hover:text-ink',
  danger: 'border border-line-strong bg-panel text-fail hover:bg-fail-soft',
};

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  small?: boolean;
}

export function Button({ look = 'plain', small, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={clsx(
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors duration-100 disabled:opacity-50 aria-disabled:opacity-50',
        small ? 'h-6 px-2 text-xs max-md:h-8 max-md:px-2.5 max-md:text-sm' : 'h-8 px-3 text-sm',
        looks[look],
        className,
      )}
      {...rest}
    />
  );
}
