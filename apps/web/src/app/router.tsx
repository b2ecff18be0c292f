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

/** The router reloads where a page cannot be loaded. While the server is away that would take away what is still shown. */
const whileHere =
  <T,>(load: () => Promise<T>) =>
  (): Promise<T> =>
    load().catch((error: unknown) => {
      if (live().state === 'live') throw error;
      throw new AppError(
        'unavailable',
        'The server cannot be reached. Nothing is lost: agents keep working, and this page loads once it is back.',
      );
    });

const rootRoute = createRootRoute({
  component: AppShell,
  notFoundComponent: () => <NoPage title="Page not found" />,
  errorComponent: ({ error }) => (
    <NoPage title="This page could not be shown.">
      <Failed error={error} retry={() => location.reload()} />
    </NoPage>
  ),
});

/** What the fleet shows; everything that narrows it is in the address. */
export const fleetSearch = z.object({
  q: z.string().optional().catch(undefined),
  tag: z.string().optional().catch(undefined),
  show: z.enum(fleetShows).optional().catch(undefined),
  sort: z.enum(fleetSorts).optional().catch(undefined),
});

/** A place in a session: an event of its log and a panel. */
export const sessionSearch = z.object({
  at: z.int().positive().optional().catch(undefined),
  panel: z.string().optional().catch(undefined),
});

const newSearch = z.object({
  example: z.string().optional().catch(undefined),
  task: z.string().optional().catch(undefined),
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
  component: lazyRouteComponent(
    whileHere(() => import('@/features/new-session/new-session-page')),
    'NewSessionPage',
  ),
});

const sessionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sessions/$id',
  validateSearch: sessionSearch,
  component: lazyRouteComponent(
    whileHere(() => import('@/features/session/session-page')),
    'SessionPage',
  ),
});

const compareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/compare/$id',
  component: lazyRouteComponent(
    whileHere(() => import('@/features/compare/compare-page')),
    'ComparePage',
  ),
});

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: settingsSearch,
  component: lazyRouteComponent(
    whileHere(() => import('@/features/settings/settings-page')),
    'SettingsPage',
  ),
});

/** What narrows the board of a run, and the trial that is shown beside it. */
const evaluationSearch = z.object({
  q: z.string().optional().catch(undefined),
  show: z.enum(['pass', 'fail', 'invalid', 'running', 'queued']).optional().catch(undefined),
  task: z.string().optional().catch(undefined),
  attempt: z.int().positive().optional().catch(undefined),
});

const evaluationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/evaluations',
  component: lazyRouteComponent(
    whileHere(() => import('@/features/evaluation/evaluations-page')),
    'EvaluationsPage',
  ),
});

const evaluationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/evaluations/$id',
  validateSearch: evaluationSearch,
  component: lazyRouteComponent(
    whileHere(() => import('@/features/evaluation/evaluation-page')),
    'EvaluationPage',
  ),
});

const actionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/actions',
  component: lazyRouteComponent(
    whileHere(() => import('@/features/actions/actions-page')),
    'ActionsPage',
  ),
});

const actionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/actions/$name',
  component: lazyRouteComponent(
    whileHere(() => import('@/features/actions/action-page')),
    'ActionPage',
  ),
});

const doctorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/doctor',
  component: lazyRouteComponent(
    whileHere(() => import('@/features/settings/doctor-page')),
    'DoctorPage',
  ),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    fleetRoute,
    newRoute,
    sessionRoute,
    compareRoute,
    settingsRoute,
    evaluationsRoute,
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
