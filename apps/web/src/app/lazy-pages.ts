import { lazyRouteComponent } from '@tanstack/react-router';
import { AppError } from '@belay/protocol';
import { live } from '@/lib/server';

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

/** Every page but the fleet, each loaded when it is first shown. */
export const pages = {
  NewSessionPage: lazyPage(
    () => import('@/features/new-session/new-session-page'),
    'NewSessionPage',
  ),
  SessionPage: lazyPage(() => import('@/features/session/session-page'), 'SessionPage'),
  ComparePage: lazyPage(() => import('@/features/compare/compare-page'), 'ComparePage'),
  SettingsPage: lazyPage(() => import('@/features/settings/settings-page'), 'SettingsPage'),
  EvaluationsPage: lazyPage(
    () => import('@/features/evaluation/evaluations-page'),
    'EvaluationsPage',
  ),
  NewRunPage: lazyPage(() => import('@/features/evaluation/new-run-page'), 'NewRunPage'),
  EvaluationPage: lazyPage(() => import('@/features/evaluation/evaluation-page'), 'EvaluationPage'),
  ActionsPage: lazyPage(() => import('@/features/actions/actions-page'), 'ActionsPage'),
  ActionPage: lazyPage(() => import('@/features/actions/action-page'), 'ActionPage'),
  AutomationsPage: lazyPage(
    () => import('@/features/automations/automations-page'),
    'AutomationsPage',
  ),
  AutomationPage: lazyPage(
    () => import('@/features/automations/automation-page'),
    'AutomationPage',
  ),
  AutomationRunPage: lazyPage(
    () => import('@/features/automations/automation-run-page'),
    'AutomationRunPage',
  ),
  DoctorPage: lazyPage(() => import('@/features/settings/doctor-page'), 'DoctorPage'),
};
