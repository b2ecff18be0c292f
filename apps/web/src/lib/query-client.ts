import { QueryClient } from '@tanstack/react-query';
import { errorFrom } from '@belay/protocol';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 30_000, retry: isWorthAnother, refetchOnWindowFocus: false },
  },
});

/** An answer of the server stays the same, so only a request without one is retried. */
function isWorthAnother(failures: number, error: Error): boolean {
  return failures < 1 && errorFrom(error).code === 'unavailable';
}
