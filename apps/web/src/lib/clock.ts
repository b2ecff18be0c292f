import { useEffect, useState } from 'react';

/** The time now, told again every so many milliseconds while `on`. */
export function useNow(every = 1_000, on = true): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every, on]);
  return now;
}
