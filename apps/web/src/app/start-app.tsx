import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { Tooltip } from 'radix-ui';
import { z } from 'zod';
import { listenForKeys } from '@/lib/commands';
import { queryClient } from '@/lib/query-client';
import { submitByKeys } from '@/lib/submit-by-keys';
import { applyTheme } from '@/lib/theme';
import { router } from './router';
import '@/styles.css';

export function startApp(): void {
  // The page’s Content Security Policy forbids the `eval` that zod would otherwise try.
  z.config({ jitless: true });
  applyTheme();
  listenForKeys();
  submitByKeys();
  const root = document.getElementById('root');
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider delayDuration={400}>
          <RouterProvider router={router} />
        </Tooltip.Provider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
