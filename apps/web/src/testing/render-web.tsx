import type { ReactNode } from 'react';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render } from '@testing-library/react';
import { Tooltip } from 'radix-ui';
import type { Role } from '@belay/protocol';
import { Toasts } from '@/components/ui/toasts';
import { usePreferences } from '@/lib/preferences';
import { queryClient } from '@/lib/query-client';
import { useToasts } from '@/lib/toasts';
import { RestStub, type RestReplies } from './rest-stub';

type Preferences = Omit<ReturnType<typeof usePreferences.getState>, 'set'>;

export interface RenderOptions {
  replies?: RestReplies;
  /** The role of the page’s token. */
  role?: Role;
  preferences?: Partial<Preferences>;
  /** Contents of `localStorage` from an earlier visit. */
  storage?: Record<string, string>;
  /** The page’s path. */
  path?: `/${string}`;
}

/**
 * Renders an element as a page of the app, with an empty cache, no toasts, default preferences and a
 * server with the given replies.
 */
export async function renderWeb(
  element: ReactNode,
  { replies = {}, role = 'user', preferences, storage = {}, path = '/' }: RenderOptions = {},
) {
  queryClient.clear();
  useToasts.setState(useToasts.getInitialState());
  localStorage.clear();
  for (const [name, value] of Object.entries(storage)) localStorage.setItem(name, value);
  usePreferences.setState({ ...usePreferences.getInitialState(), ...preferences });
  const me = {
    role,
    scope: role === 'viewer' ? ('view' as const) : ('admin' as const),
    label: role === 'viewer' ? 'Viewer' : 'Owner',
    sessions: 'all' as const,
    expires: null,
    hasPassword: false,
  };
  const server = { me: () => me, ...replies.server };
  const rest = new RestStub({ ...replies, server });
  const router = routerWith(element, path);
  await router.load();
  render(
    <QueryClientProvider client={queryClient}>
      <Tooltip.Provider>
        <RouterProvider router={router} />
      </Tooltip.Provider>
    </QueryClientProvider>,
  );
  return { rest, pathname: () => router.state.location.pathname };
}

/** Renders the element at its path; any other path renders nothing. */
function routerWith(element: ReactNode, path: string) {
  const root = createRootRoute({ notFoundComponent: () => null });
  const page = createRoute({
    getParentRoute: () => root,
    path: path.split('?')[0] ?? path,
    component: () => (
      <>
        {element}
        <Toasts />
      </>
    ),
  });
  return createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: [path] }),
  });
}
