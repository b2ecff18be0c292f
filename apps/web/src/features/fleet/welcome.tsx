import { Checks } from '@/components/checks/checks';
import { Demos } from '@/components/demos';
import { useReadOnly, useSeesOnlySome } from '@/lib/role';

/** The first page of a new user: demo sessions that need no API key, and checks of the setup. */
export function Welcome() {
  const readOnly = useReadOnly();
  const seesOnlySome = useSeesOnlySome();
  return (
    <div className="min-h-0 overflow-y-auto">
      <section className="mx-auto max-w-xl p-6 pt-[12vh] max-sm:p-4 max-sm:pt-8">
        <h2 className="mb-2 text-xl font-semibold">No sessions yet</h2>
        <p className="text-muted">
          A session is an agent in a container of its own, working on a task. You see everything it
          does, and it asks before it runs a command or uses the network.
        </p>
        {!readOnly && (
          <>
            <Demos />
            {!seesOnlySome && (
              <>
                <h3 className="mt-8 mb-1 font-semibold">What agents need</h3>
                <Checks />
              </>
            )}
          </>
        )}
      </section>
    </div>
  );
}
