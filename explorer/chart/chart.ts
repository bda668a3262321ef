import { effect, signal, untracked } from '@preact/signals-core'
import { serviceNow } from '../api/client.ts'
import { earlierLoaders, loaders, plotWidth } from '../curves/loaders.ts'
import { cursor, isMoving, span, view } from '../state/store.ts'
import { drawPicture } from './draw.ts'
import { drawOverlay } from './draw-overlay.ts'
import { addGestures } from './gestures.ts'
import { addKeys } from './keys.ts'
import { type Curve, type Layout, layOut } from './layout.ts'
import { frames, layout, rubberBand, shaded } from './signals.ts'
import { readTheme, themeVersion } from './theme.ts'
import type { ValueScale } from './value-ticks.ts'

/** The chart in its element: draws when something has changed, at most once a frame. */
export class Chart {
  readonly #plot: HTMLCanvasElement
  readonly #overlay: HTMLCanvasElement
  readonly #size = signal({ width: 0, height: 0, ratio: 1 })
  #isDrawing = false
  #isDirty = { plot: false, overlay: false }
  #scales = new Map<string, ValueScale>()

  constructor(host: HTMLElement) {
    this.#plot = document.createElement('canvas')
    this.#overlay = document.createElement('canvas')
    for (const canvas of [this.#plot, this.#overlay]) {
      canvas.setAttribute('aria-hidden', 'true')
      host.append(canvas)
    }
    this.#plot.className = 'plot'
    this.#overlay.className = 'overlay'
    new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect
      this.#size.value = {
        width: Math.floor(width),
        height: Math.floor(height),
        ratio: devicePixelRatio || 1,
      }
    }).observe(host)
    addGestures(host)
    addKeys(host)
    effect(() => {
      this.#readAll()
      this.#invalidate('plot')
    })
    effect(() => {
      void [cursor.value, rubberBand.value, view.value, layout.value]
      this.#invalidate('overlay')
    })
  }

  /** The canvas with the curves, for a picture to save. */
  get canvas(): HTMLCanvasElement {
    return this.#plot
  }

  /** Everything that a picture is made of, so that a change of it is drawn. */
  #readAll(): void {
    void [view.value, span.value, this.#size.value, themeVersion.value, shaded.value]
    for (const loader of [...loaders.value.values(), ...earlierLoaders.value.values()]) {
      void [loader.series.value, loader.metadata.value, loader.stepped.value]
    }
  }

  #invalidate(part: 'plot' | 'overlay'): void {
    this.#isDirty[part] = true
    if (this.#isDrawing) return
    this.#isDrawing = true
    requestAnimationFrame(() => {
      this.#isDrawing = false
      untracked(() => this.#draw())
    })
  }

  #draw(): void {
    const { width, height, ratio } = this.#size.value
    if (width < 40 || height < 40) return
    const theme = readTheme()
    if (this.#isDirty.plot) {
      this.#isDirty.plot = false
      const places = this.#layOut(width, height)
      const context = sized(this.#plot, width, height, ratio)
      drawPicture(context, {
        layout: places,
        view: view.value,
        theme,
        now: serviceNow(),
        shaded: shaded.value,
        selected: view.value.selected,
        limitOf: (address) => loaders.value.get(address),
      })
      layout.value = places
      plotWidth.value = places.right - places.left
      frames.value++
      this.#isDirty.overlay = true
    }
    if (this.#isDirty.overlay && layout.value !== null) {
      this.#isDirty.overlay = false
      const context = sized(this.#overlay, width, height, ratio)
      drawOverlay(context, {
        layout: layout.value,
        view: view.value,
        theme,
        cursor: cursor.value,
        band: rubberBand.value,
      })
    }
  }

  #layOut(width: number, height: number): Layout {
    const curves: Curve[] = []
    for (const pen of view.value.pens) {
      const loader = loaders.value.get(pen.address)
      if (!pen.hidden && loader !== undefined) {
        curves.push({ pen, loader, earlier: earlierLoaders.value.get(pen.address) })
      }
    }
    const places = layOut({
      width,
      height,
      view: view.value,
      span: span.value,
      curves,
      limitsOf: (address) => loaders.value.get(address),
      growing: isMoving.value ? this.#scales : null,
    })
    this.#scales = new Map(places.lanes.flatMap(({ groups }) => groups.map(({ id, scale }) => [id, scale])))
    return places
  }
}

function sized(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): CanvasRenderingContext2D {
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across
    canvas.height = down
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
  }
  const context = canvas.getContext('2d')!
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  return context
}
