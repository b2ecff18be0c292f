import { QueryClient } from '@tanstack/react-query';
import { errorFrom } from '@belay/protocol';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 30_000, retry: isWorthAnother, refetchOnWindowFocus: false },
  },
});

/** Retries once if the server could not be reached; its other errors would only repeat. */
function isWorthAnother(failures: number, error: Error): boolean {
  return failures < 1 && errorFrom(error).code === 'unavailable';
}
