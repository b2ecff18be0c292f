import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { AppError } from '@belay/protocol';
import { z } from 'zod';
import { NoPage } from '@/components/no-page';
import { Failed } from '@/components/ui/empty';
import { fleetShows, fleetSorts } from '@/features/fleet/fleet-order';
import { FleetPage } from '@/features/fleet/fleet-page';
import { onOpenSession } from '@/lib/open-session-page';
import { live } from '@/lib/server';
import { AppShell } from './app-shell';

/**
 * The router reloads the page if a route’s code cannot be loaded. While the server is unreachable
 * that would lose the current page, so this throws another error.
 */
const lazyPage = <T extends object, K extends keyof T>(load: () => Promise<T>, name: K) =>
  lazyRouteComponent(
    () =>
      load().catch((error: unknown) => {
        if (live().state === 'live') throw error;
        throw new AppError(
          'unavailable',
          'The server cannot be reached. Nothing is lost: agents keep working, and this page loads once it is back.',
        );
      }),
    name,
  );

/** Invalid values in the URL are ignored. */
const text = z.string().optional().catch(undefined);
const number = z.int().positive().optional().catch(undefined);

const rootRoute = createRootRoute({
  component: AppShell,
  notFoundComponent: () => <NoPage title="Page not found" />,
  errorComponent: ({ error }) => (
    <NoPage title="This page could not be shown.">
      <Failed error={error} retry={() => location.reload()} />
    </NoPage>
  ),
});

/** The filters and order of the fleet. */
const fleetSearch = z.object({
  q: text,
  tag: text,
  show: z.enum(fleetShows).optional().catch(undefined),
  sort: z.enum(fleetSorts).optional().catch(undefined),
});

/** A location in a session: an event of its log, and a panel. */
const sessionSearch = z.object({
  at: number,
  panel: text,
});

const newSearch = z.object({
  example: text,
  task: text,
});

const settingsSearch = z.object({
  section: z
    .enum([
      'general',
      'models',
      'budgets',
      'network',
      'approvals',
      'git',
      'machines',
      'agents',
      'mcp',
      'tokens',
      'users',
      'audit',
      'shortcuts',
    ])
    .optional()
    .catch(undefined),
});

const fleetRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: fleetSearch,
  component: FleetPage,
});

const newRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/new',
  validateSearch: newSearch,
  component: lazyPage(() => import('@/features/new-session/new-session-page'), 'NewSessionPage'),
});

const sessionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sessions/$id',
  validateSearch: sessionSearch,
  component: lazyPage(() => import('@/features/session/session-page'), 'SessionPage'),
});

const compareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/compare/$id',
  component: lazyPage(() => import('@/features/compare/compare-page'), 'ComparePage'),
});

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: settingsSearch,
  component: lazyPage(() => import('@/features/settings/settings-page'), 'SettingsPage'),
});

/** The filters of a run’s board, and the trial shown beside it. */
const evaluationSearch = z.object({
  q: text,
  show: z.enum(['pass', 'fail', 'invalid', 'running', 'queued']).optional().catch(undefined),
  task: text,
  attempt: number,
});

const evaluationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/evaluations',
  component: lazyPage(() => import('@/features/evaluation/evaluations-page'), 'EvaluationsPage'),
});

const newRunRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/evaluations/new',
  component: lazyPage(() => import('@/features/evaluation/new-run-page'), 'NewRunPage'),
});

const evaluationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/evaluations/$id',
  validateSearch: evaluationSearch,
  component: lazyPage(() => import('@/features/evaluation/evaluation-page'), 'EvaluationPage'),
});

const actionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/actions',
  component: lazyPage(() => import('@/features/actions/actions-page'), 'ActionsPage'),
});

const actionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/actions/$name',
  component: lazyPage(() => import('@/features/actions/action-page'), 'ActionPage'),
});

const doctorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/doctor',
  component: lazyPage(() => import('@/features/settings/doctor-page'), 'DoctorPage'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    fleetRoute,
    newRoute,
    sessionRoute,
    compareRoute,
    settingsRoute,
    evaluationsRoute,
    newRunRoute,
    evaluationRoute,
    actionsRoute,
    actionRoute,
    doctorRoute,
  ]),
  defaultPreload: 'intent',
});

onOpenSession((id) => router.navigate({ to: '/sessions/$id', params: { id } }));

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
