import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { z } from 'zod';
import { NoPage } from '@/components/no-page';
import { Failed } from '@/components/ui/empty';
import { automationSections } from '@/features/automations/automation-sections';
import { fleetShows, fleetSorts } from '@/features/fleet/fleet-order';
import { FleetPage } from '@/features/fleet/fleet-page';
import { onOpenSession } from '@/lib/open-session-page';
import { AppShell } from './app-shell';
import { pages } from './lazy-pages';

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
  component: pages.NewSessionPage,
});

const sessionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sessions/$id',
  validateSearch: sessionSearch,
  component: pages.SessionPage,
});

const compareRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/compare/$id',
  component: pages.ComparePage,
});

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: settingsSearch,
  component: pages.SettingsPage,
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
  component: pages.EvaluationsPage,
});

const newRunRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/evaluations/new',
  component: pages.NewRunPage,
});

const evaluationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/evaluations/$id',
  validateSearch: evaluationSearch,
  component: pages.EvaluationPage,
});

const actionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/actions',
  component: pages.ActionsPage,
});

const actionRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/actions/$name',
  component: pages.ActionPage,
});

/** The part of an automation’s page that is shown. */
const automationSearch = z.object({
  section: z.enum(automationSections).optional().catch(undefined),
});

const automationsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/automations',
  component: pages.AutomationsPage,
});

const automationRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/automations/$name',
  validateSearch: automationSearch,
  component: pages.AutomationPage,
});

const automationRunRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/automations/$name/runs/$run',
  component: pages.AutomationRunPage,
});

const doctorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/doctor',
  component: pages.DoctorPage,
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
    automationsRoute,
    automationRoute,
    automationRunRoute,
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
