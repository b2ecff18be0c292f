import { QueryClient } from '@tanstack/react-query';
import { errorFrom } from '@belay/protocol';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 30_000, retry: isWorthAnother, refetchOnWindowFocus: false },
  },
});

/** What the server has answered it answers again; one that did not answer may yet. */
function isWorthAnother(failures: number, error: Error): boolean {
  return failures < 1 && errorFrom(error).code === 'unavailable';
}
