import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./strangers-commits.attacks.spec.js'));
