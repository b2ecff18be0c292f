import { Link } from '@tanstack/react-router';
import { Checks } from '@/components/checks/checks';
import { Demos } from '@/components/demos';
import { Page } from '@/components/page';
import { useReadOnly } from '@/lib/role';

/** The checks of the welcome page as a separate page. */
export function DoctorPage() {
  const readOnly = useReadOnly();
  return (
    <Page title="Doctor · Belay" className="overflow-y-auto">
      <div className="mx-auto max-w-2xl p-6 max-sm:p-4">
        <h1 className="mb-2 text-xl font-semibold">Doctor</h1>
        <Checks />
        <p className="mt-4 flex gap-4 text-sm">
          <Link to="/settings" search={{ section: 'models' }} className="underline">
            Models and keys
          </Link>
        </p>
        {!readOnly && (
          <>
            <h2 className="mt-8 font-semibold">Sessions to try</h2>
            <Demos />
          </>
        )}
      </div>
    </Page>
  );
}
