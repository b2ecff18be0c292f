import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./shared-access.spec.js'));
