import { useSyncExternalStore } from 'react';
import { usePreferences } from '@/lib/preferences';

const systemDark = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)');

/** Applies the user’s theme, or the system’s, and follows changes. */
export function applyTheme(): void {
  const apply = () => {
    const { theme } = usePreferences.getState();
    const dark = theme === 'dark' || (theme === 'system' && systemDark().matches);
    document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
    document.dispatchEvent(new Event('belay:theme'));
  };
  usePreferences.subscribe(apply);
  systemDark().addEventListener('change', apply);
  apply();
}

export function useDark(): boolean {
  return useSyncExternalStore(
    (changed) => {
      document.addEventListener('belay:theme', changed);
      return () => document.removeEventListener('belay:theme', changed);
    },
    () => document.documentElement.dataset['theme'] === 'dark',
  );
}

/** A theme colour as `#rrggbb`, for use outside CSS. */
export function colour(name: string): string {
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const short = /^#([\da-f])([\da-f])([\da-f])$/i.exec(value);
  return short
    ? `#${short
        .slice(1)
        .map((digit) => digit + digit)
        .join('')}`
    : value;
}
