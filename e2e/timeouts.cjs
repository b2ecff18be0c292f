// A machine that does much else takes its time for a container or a page. What the tests wait for
// has limits of its own, which are shorter and say what did not come.
jest.setTimeout(240_000);
