declare const self: ServiceWorkerGlobalScope;

/** TypeScript's list has the event without what is in it. */
type Changed = ExtendableEvent & {
  readonly oldSubscription?: PushSubscription | null;
  readonly newSubscription?: PushSubscription | null;
};

/** The push service has ended the subscription of this browser, which is the gateway's only way to it. */
export async function subscribeAgain(event: Changed): Promise<void> {
  const { oldSubscription, newSubscription } = event;
  const options = oldSubscription?.options;
  const fresh = newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
  if (fresh === undefined || oldSubscription === undefined || oldSubscription === null) return;
  await fetch(new URL("api/push", self.registration.scope), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ subscription: fresh.toJSON(), replaces: oldSubscription.endpoint }),
  });
}
