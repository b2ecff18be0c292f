import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./strangers-out.attacks.spec.js'));
