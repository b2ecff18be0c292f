import { QueryClient } from '@tanstack/react-query';
import { errorFrom } from '@belay/protocol';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: isWorthAnother,
      retryDelay: (_failures, error) => (secondsToWait(error) ?? 1) * 1_000,
      refetchOnWindowFocus: false,
    },
  },
});

/** How often a query waits because there were too many requests, such as of all viewers after a restart of the server. */
const mostWaits = 10;

/**
 * Retries once if the server could not be reached, and when it says so if there were too many requests; its other errors
 * would only repeat.
 */
function isWorthAnother(failures: number, error: Error): boolean {
  if (secondsToWait(error) !== undefined) return failures < mostWaits;
  return failures < 1 && errorFrom(error).code === 'unavailable';
}

function secondsToWait(error: Error): number | undefined {
  const { code, details } = errorFrom(error);
  const seconds = details?.['retryAfter'];
  return code === 'limit_reached' && typeof seconds === 'number' ? seconds : undefined;
}
