import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./expiring-values.spec.js'));
