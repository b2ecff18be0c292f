import { Link } from '@tanstack/react-router';
import { Checks } from '@/components/checks/checks';
import { TopBar } from '@/components/top-bar';

/** The checks of the first page, for later. */
export function DoctorPage() {
  return (
    <>
      <title>Doctor · Belay</title>
      <TopBar />
      <main id="content" className="min-h-0 flex-1 overflow-y-auto">
        <div className="mx-auto max-w-2xl p-6 max-sm:p-4">
          <h1 className="mb-2 text-xl font-semibold">Doctor</h1>
          <Checks />
          <p className="mt-4 flex gap-4 text-sm">
            <Link to="/settings" search={{ section: 'models' }} className="underline">
              Models and keys
            </Link>
            <Link to="/new" className="underline">
              Start a session
            </Link>
          </p>
        </div>
      </main>
    </>
  );
}
